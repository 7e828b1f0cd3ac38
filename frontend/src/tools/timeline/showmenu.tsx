/** The menu of what the timeline shows: short events, colours, arrows, and why devices are idle. */

import type { Signal } from "@preact/signals";
import { t } from "../../base/messages";
import { COLOURINGS, type Colouring } from "../../base/timelinecodec";
import type { Settings } from "../../state/settings";
import { Menu } from "../../view/menu";
import { Switch } from "../../view/switch";
import { useResource } from "../../view/useresource";
import type { Scene } from "./scene";
import { withToggled } from "./state";

const PS_PER_US = 1e6;

const COLOURING_NAMES: Readonly<Record<Colouring, string>> = {
  kind: t("by kind of work"),
  name: t("by name"),
  library: t("by library, file or module"),
};

function LeastDuration({ scene }: { scene: Scene }) {
  const { leastPs } = scene.state;
  return (
    <label class="param" data-tip={t("Dims shorter slices")}>
      <span>{t("Shortest duration, µs")}</span>
      <input
        type="number"
        min={0}
        step="any"
        value={leastPs.value ? leastPs.value / PS_PER_US : ""}
        onChange={(event) => {
          leastPs.value = Math.max(0, Number(event.currentTarget.value) * PS_PER_US || 0);
        }}
      />
    </label>
  );
}

function ColouringChoice({ scene }: { scene: Scene }) {
  const { colouring } = scene.state;
  return (
    <label class="param">
      <span>{t("Colours")}</span>
      <select
        value={colouring.value}
        onChange={(event) => {
          colouring.value = event.currentTarget.value as Colouring;
        }}
      >
        {COLOURINGS.map((id) => (
          <option key={id} value={id}>
            {COLOURING_NAMES[id]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The kinds that the capture has; those that a link chose stay, so that they can be taken off. */
function ArrowKindChoice({ scene }: { scene: Scene }) {
  const { arrowKinds } = scene.state;
  const { value } = useResource((signal) => scene.api.arrows({ lanes: [], ...scene.capture }, signal), [scene]);
  const kinds = [...new Set([...(value?.kinds ?? []), ...arrowKinds.value])];
  return (
    <fieldset class="param">
      <span>{t("Arrows between all events in view")}</span>
      {kinds.length === 0 && <span class="quiet">{t("none in this capture")}</span>}
      {kinds.map((kind) => (
        <Switch
          key={kind}
          class="tl-check"
          label={kind}
          on={arrowKinds.value.includes(kind)}
          set={() => {
            arrowKinds.value = [...withToggled(new Set(arrowKinds.peek()), kind)];
          }}
        />
      ))}
    </fieldset>
  );
}

function IdleLanesSwitch({ settings }: { settings: Signal<Settings> }) {
  const tip = t("Causes of idleness, busy share and launch queue of each device, memory, critical path. Remembered");
  return (
    <Switch
      class="param tl-check"
      label={t("Why devices are idle")}
      doc={tip}
      on={settings.value.idle}
      set={(idle) => {
        settings.value = { ...settings.peek(), idle };
      }}
    />
  );
}

/** Its label says how many of the choices are not as they are at first. */
export function ShowMenu({ scene, settings }: { scene: Scene; settings: Signal<Settings> }) {
  const { leastPs, arrowKinds, colouring } = scene.state;
  const changes = [leastPs.value > 0, arrowKinds.value.length > 0, colouring.value !== "kind"];
  const changedCount = changes.filter(Boolean).length;
  return (
    <Menu
      label={changedCount ? t("Show ({set})", { set: changedCount }) : t("Show")}
      tip={t("Filter by duration; arrows; idle devices")}
    >
      {() => (
        <>
          <IdleLanesSwitch settings={settings} />
          <ColouringChoice scene={scene} />
          <LeastDuration scene={scene} />
          <ArrowKindChoice scene={scene} />
        </>
      )}
    </Menu>
  );
}
