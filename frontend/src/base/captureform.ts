/** The form of a capture: its fields, what may stand in them, and what is sent. */

import { t } from "./messages";

/** What stands in the fields, as typed; stored in the browser under these names. `duration` and `delay` are ms. */
export interface CaptureForm {
  readonly tpu: boolean;
  /** Addresses, or names of TPUs. */
  readonly places: string;
  readonly duration: string;
  readonly host_tracer_level: string;
  readonly device_tracer_level: string;
  readonly python_tracer_level: string;
  readonly num_retry: string;
  readonly delay: string;
  readonly run: string;
}

export type Field = keyof CaptureForm;
export type Faults = Readonly<Partial<Record<Field, string>>>;

export const DEFAULT_FORM: CaptureForm = {
  tpu: false,
  places: "localhost:6009",
  duration: "1000",
  host_tracer_level: "2",
  device_tracer_level: "1",
  python_tracer_level: "0",
  num_retry: "3",
  delay: "0",
  run: "",
};

/** Least and largest number of a field; `duration` and `delay` in ms. */
const RANGES: Readonly<Partial<Record<Field, readonly [number, number]>>> = {
  host_tracer_level: [0, 3],
  device_tracer_level: [0, 1],
  python_tracer_level: [0, 1],
  duration: [1, 600_000],
  num_retry: [0, 10],
  delay: [0, 3_600_000],
};
const MOST_WORKERS = 256;
const ADDRESS_PATTERN = /^(?:grpc:\/\/)?(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+)):(\d{1,5})$/;
const SESSION_NAME_PATTERN = /^(?!\.)[\p{L}\p{N}_ .+-]{1,100}(?<![ .])$/u;

/** What is typed, one place each; people separate them by commas, spaces or lines. */
export function splitWorkers(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ""))];
}

function addressFault(address: string): string {
  const match = ADDRESS_PATTERN.exec(address);
  const port = Number(match?.[3]);
  if (match && port >= 1 && port <= 65535) return "";
  if (match) return t("“{address}”: ports range from 1 to 65535.", { address });
  if (/^[\w.-]+$/.test(address)) return t("“{address}” names no port: write {address}:6009.", { address });
  return t("“{address}” is not an address: write host:port, e.g. localhost:6009 or [::1]:6009.", { address });
}

function workersFault(form: CaptureForm): string {
  const places = splitWorkers(form.places);
  if (!places.length) return form.tpu ? t("Name a TPU.") : t("Give an address, e.g. localhost:6009.");
  if (places.length > MOST_WORKERS) return t("At most {most} workers can be captured at once.", { most: MOST_WORKERS });
  return form.tpu ? "" : (places.map(addressFault).find((fault) => fault !== "") ?? "");
}

/** What is wrong with each field; the server checks the same again. */
export function findFaults(form: CaptureForm): Faults {
  const faultByField: Partial<Record<Field, string>> = {};
  const places = workersFault(form);
  if (places) faultByField.places = places;
  for (const [field, limits] of Object.entries(RANGES)) {
    const text = form[field as Field] as string;
    const value = Number(text);
    if (!/^-?\d+$/.test(text.trim()) || value < limits[0] || value > limits[1])
      faultByField[field as Field] = t("Give a whole number from {least} to {most}.", {
        least: limits[0],
        most: limits[1],
      });
  }
  if (form.run.trim() && !SESSION_NAME_PATTERN.test(form.run.trim()))
    faultByField.run = t("Use letters, digits, spaces and . _ + -, without a leading dot.");
  return faultByField;
}

/** The form as the server's routes take it. */
export function requestParameters(form: CaptureForm): Record<string, string> {
  const { tpu, places, run, ...options } = form;
  return {
    ...options,
    service_addr: splitWorkers(places).join(","),
    ...(tpu && { is_tpu_name: "true" }),
    ...(run.trim() && { run: run.trim() }),
  };
}

/** The form's field that a problem of the server is about. */
export function fieldOfProblem(where: string): Field | undefined {
  const name = where === "service_addr" ? "places" : where;
  return Object.hasOwn(DEFAULT_FORM, name) ? (name as Field) : undefined;
}

/** Entries of places that are offered again. */
const MOST_RECENT_PLACES = 6;

/** Places used lately, the newest first. */
export function addRecentPlace(recent: readonly string[], places: string): string[] {
  const text = splitWorkers(places).join(", ");
  return [text, ...recent.filter((other) => other !== text)].slice(0, MOST_RECENT_PLACES);
}

/** What was kept of a form, where all of it is what a form may hold; else the usual one. A session's name is of use once. */
export function parseStoredForm(stored: unknown): CaptureForm {
  const fields: Readonly<Record<string, unknown>> = { ...DEFAULT_FORM, ...Object(stored), run: "" };
  if (Object.entries(DEFAULT_FORM).some(([field, usual]) => typeof fields[field] !== typeof usual)) return DEFAULT_FORM;
  const form = Object.fromEntries(
    Object.keys(DEFAULT_FORM).map((field) => [field, fields[field]]),
  ) as unknown as CaptureForm;
  return Object.keys(findFaults(form)).length ? DEFAULT_FORM : form;
}

/** What was kept of the places used lately. */
export function parseRecentPlaces(stored: unknown): string[] {
  const texts = Array.isArray(stored) ? stored.filter((text) => typeof text === "string") : [];
  return [...new Set(texts)].slice(0, MOST_RECENT_PLACES);
}
