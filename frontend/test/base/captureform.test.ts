import { describe, expect, it } from "vitest";
import {
  addRecentPlace,
  type CaptureForm,
  DEFAULT_FORM,
  fieldOfProblem,
  findFaults,
  requestParameters,
  splitWorkers,
} from "../../src/base/captureform";

const form = (change: Partial<CaptureForm>): CaptureForm => ({ ...DEFAULT_FORM, ...change });

describe("the form of a capture", () => {
  it.each(["localhost:6009", "grpc://10.0.0.1:8466", "[::1]:6009, my-host.example:1", "a:1 b:2\nc:65535"])(
    "takes %j",
    (places) => {
      expect(findFaults(form({ places }))).toEqual({});
    },
  );

  it.each([
    ["", /address/],
    ["localhost", /names no port: write localhost:6009/],
    ["localhost:0", /1 to 65535/],
    ["localhost:65536", /1 to 65535/],
    ["http://localhost:80", /not an address/],
    ["::1:6009", /not an address/],
    ["a:1,/etc/passwd", /not an address/],
  ])("says what is wrong with the address %j", (places, told) => {
    expect(findFaults(form({ places })).places).toMatch(told);
  });

  it("takes any name of a TPU, but at most so many places", () => {
    expect(findFaults(form({ tpu: true, places: "my-tpu" }))).toEqual({});
    const many = Array.from({ length: 257 }, (_, place) => `host${place}:1`).join();
    expect(findFaults(form({ places: many })).places).toMatch(/At most 256/);
  });

  it.each([
    ["duration", "0"],
    ["duration", "-1"],
    ["duration", "1e9"],
    ["duration", "1000000000"],
    ["duration", ""],
    ["num_retry", "11"],
    ["delay", "1.5"],
    ["run", "a/b"],
    ["run", "../x"],
    ["run", ".hidden"],
  ] as const)("refuses %s %j", (field, text) => {
    expect(Object.keys(findFaults(form({ [field]: text })))).toEqual([field]);
  });

  it("is sent as the server takes it", () => {
    expect(requestParameters(form({ places: " a:1,  b:2 a:1", run: " r1 " }))).toEqual({
      service_addr: "a:1,b:2",
      duration: "1000",
      delay: "0",
      num_retry: "3",
      host_tracer_level: "2",
      device_tracer_level: "1",
      python_tracer_level: "0",
      run: "r1",
    });
    expect(requestParameters(form({ tpu: true }))).toHaveProperty("is_tpu_name", "true");
    expect(fieldOfProblem("service_addr")).toBe("places");
    expect(fieldOfProblem("duration")).toBe("duration");
    expect(fieldOfProblem("/logs")).toBeUndefined();
  });

  it("remembers the last places, each once", () => {
    expect(splitWorkers(";a:1\n")).toEqual(["a:1"]);
    expect(addRecentPlace(["b:2", "a:1"], "a:1")).toEqual(["a:1", "b:2"]);
    expect(addRecentPlace(["1", "2", "3", "4", "5", "6"], "7")).toHaveLength(6);
  });
});
