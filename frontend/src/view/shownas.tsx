/** A choice of how a table is shown, e.g. as rows or as a flame graph. */

interface ShownAsProps {
  readonly label: string;
  readonly view: string;
  readonly set: (view: string) => void;
  /** What each view is called; "" is the usual one. */
  readonly views: readonly (readonly [view: string, title: string])[];
}

export function ShownAs({ label, view, set, views }: ShownAsProps) {
  return (
    <select aria-label={label} value={view} onChange={(event) => set(event.currentTarget.value)}>
      {views.map(([each, title]) => (
        <option key={each} value={each}>
          {title}
        </option>
      ))}
    </select>
  );
}
