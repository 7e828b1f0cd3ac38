/** A checkbox that changes what is shown. */

interface SwitchProps {
  readonly label: string;
  readonly doc?: string;
  readonly class?: string;
  readonly on: boolean;
  readonly set: (on: boolean) => void;
}

export function Switch({ label, doc, class: className, on, set }: SwitchProps) {
  return (
    <label class={className} data-tip={doc}>
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
  );
}
