/** A drawing as a file of its own: all of it, with the page's colours and letters written into it. */

const INLINED_STYLES = "fill stroke stroke-width stroke-dasharray font-size font-weight text-anchor opacity".split(" ");

/** The first group of the drawing is what the frame moves; its place is left out. */
export function svgFile(drawn: SVGSVGElement): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawn.querySelectorAll("*"), copy.querySelectorAll<SVGElement>("*")];
  to.forEach((element, index) => {
    const source = from[index];
    if (!source) return;
    const style = getComputedStyle(source);
    for (const name of INLINED_STYLES) element.style.setProperty(name, style.getPropertyValue(name));
    for (const name of ["class", "role", "tabindex", "data-tip"]) element.removeAttribute(name);
  });
  const moved = drawn.querySelector("g");
  copy.querySelector("g")?.removeAttribute("transform");
  const box = moved?.getBBox() ?? { x: 0, y: 0, width: 1, height: 1 };
  const [x, y, width, height] = [box.x - 8, box.y - 8, box.width + 16, box.height + 16];
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  copy.setAttribute("width", `${width}`);
  copy.setAttribute("height", `${height}`);
  copy.style.fontFamily = getComputedStyle(drawn).fontFamily;
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}
