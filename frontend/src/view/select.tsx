/** A choice among named values. */

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly choose: (value: string) => void;
}

/** Its label is for screen readers only. */
export function Select({ label, value, options, choose }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <Options options={options} />
    </select>
  );
}

/** Its label stands before it. */
export function LabelledSelect({
  label,
  value,
  options,
  choose,
  tip,
  class: className,
}: SelectProps & { readonly tip?: string; readonly class?: string }) {
  return (
    <label class={className} data-tip={tip}>
      {label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <Options options={options} />
      </select>
    </label>
  );
}

function Options({ options }: Pick<SelectProps, "options">) {
  return options.map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ));
}
