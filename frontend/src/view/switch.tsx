/** A checkbox that changes how a table or chart is shown. */

interface SwitchProps {
  readonly label: string;
  readonly doc: string;
  readonly on: boolean;
  readonly set: (on: boolean) => void;
}

export function Switch({ label, doc, on, set }: SwitchProps) {
  return (
    <label data-tip={doc}>
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
  );
}
