/** Links that change the view in place: clicks for a new tab or window stay the browser's. */

export function onPlainClick(go: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go();
  };
}
