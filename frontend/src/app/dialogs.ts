/** The dialogs of the frame: together, so that what they share with it is not cut into many files. */

export { CaptureDialog } from "./capturedialog";
export { HelpDialog } from "./helpdialog";
export { ShareDialog } from "./sharedialog";
