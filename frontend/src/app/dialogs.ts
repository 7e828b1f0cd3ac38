/** The dialogs of the frame: together, so that what they share with it is not cut into many files. */

export { CaptureDialog } from "./capturedialog";
export { HelpDialog as Help } from "./helpdialog";
export { ShareDialog } from "./sharedialog";
