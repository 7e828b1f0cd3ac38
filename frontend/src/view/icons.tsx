/** The few pictograms of the page, drawn on a 16 px grid in the colour of the text. */

const PATHS = {
  ok: "M3 8.5l3.2 3.2L13 5",
  info: "M8 7.2v4.3M8 4.6v.2",
  warning: "M8 2.2L14.6 13.6H1.4zM8 6.4v3.4M8 11.6v.2",
  error: "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
  down: "M4 6.2l4 4 4-4",
  right: "M6.2 4l4 4-4 4",
  arrow: "M2.5 8h10.4M9 4.2L12.9 8 9 11.8",
  download: "M8 2.2v8M4.8 7.2L8 10.4l3.2-3.2M2.8 13.4h10.4",
  copy: "M5.6 5.6V2.6h7.8v7.8h-3M2.6 5.6h7.8v7.8H2.6z",
  theme: "M8 2.4a5.6 5.6 0 1 0 0 11.2zM8 2.4a5.6 5.6 0 0 1 0 11.2",
  record: "M8 5.6a2.4 2.4 0 1 0 0 4.8a2.4 2.4 0 1 0 0 -4.8zM8 2.2a5.8 5.8 0 1 0 0 11.6a5.8 5.8 0 1 0 0 -11.6z",
  close: "M4 4l8 8M12 4l-8 8",
  pin: "M5.4 2.4h5.2l-.7 4.8 2 2.2H4.1l2-2.2zM8 9.4v4.4",
  select: "M2.6 5.2V2.6h2.6M10.8 2.6h2.6v2.6M13.4 10.8v2.6h-2.6M5.2 13.4H2.6v-2.6M6 6h4v4H6z",
  pan: "M8 2v12M2 8h12M6.4 3.6L8 2l1.6 1.6M6.4 12.4L8 14l1.6-1.6M3.6 6.4L2 8l1.6 1.6M12.4 6.4L14 8l-1.6 1.6",
  zoom: "M7 2.6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8M10.2 10.2l3.4 3.4M5 7h4M7 5v4",
  timing: "M2.6 3v10M13.4 3v10M4.6 8h6.8M6.2 6.2L4.4 8l1.8 1.8M9.8 6.2L11.6 8l-1.8 1.8",
  language:
    "M8 2.4a5.6 5.6 0 1 0 0 11.2a5.6 5.6 0 1 0 0-11.2zM2.4 8h11.2M8 2.4c-4 3.4-4 7.8 0 11.2M8 2.4c4 3.4 4 7.8 0 11.2",
  columns: "M2.4 3h11.2v10H2.4zM6.1 3v10M9.9 3v10",
} as const;

export type IconName = keyof typeof PATHS;

const CIRCLED: ReadonlySet<IconName> = new Set(["info", "error"]);

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {CIRCLED.has(name) && <circle cx="8" cy="8" r="6.2" />}
      <path d={PATHS[name]} />
    </svg>
  );
}
