// Creates elements in one expression.

type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: unknown };

/** `h("button", { class: "play", onclick: start }, "Play")`: functions become listeners, `null` and `false` are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value as EventListener);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat().filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
    return element;
}

/** Shapes of the buttons, drawn in a square of 24. */
const ICONS = {
    play: "M7 4v16l13-8z",
    pause: "M6 4h4v16H6zM14 4h4v16h-4z",
    step: "M5 4v16l9-8zM16 4h3v16h-3z",
    reset: "M12 5V1L6 6l6 5V7a6 6 0 1 1-6 6H4a8 8 0 1 0 8-8z",
    undo: "M9 6V2L2 8.5 9 15v-4c5 0 8.5 1.6 11 5-1-5-4-10-11-10z",
    hand: "M9 11V4a1.5 1.5 0 0 1 3 0v5h.5V3a1.5 1.5 0 0 1 3 0v6h.5V5a1.5 1.5 0 0 1 3 0v10c0 4-2.5 7-6.5 7-3 0-5-1.5-6.5-4L3 13.5c1-1.3 2.6-1 3.5 0L9 16z",
    pin: "M14 2l8 8-3 1-4 4v5l-4-4-6 6-1-1 6-6-4-4h5l4-4z",
    force: "M3 19.5L15 7.5V13h2.5V4h-9v2.5H14L2 18z",
    kick: "M13 2L4 14h6l-1 8 9-12h-6z",
    vertex: "M12 8.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM11 2h2v4.5h-2zM11 17.5h2V22h-2zM2 11h4.5v2H2zM17.5 11H22v2h-4.5z",
    throw: "M4 20c0-9 5-14 12-14V2l6 6-6 6v-4C11 10 7 13 6 20z",
    camera: "M9 4L7.5 6H4a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-3.5L15 4zm3 5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z",
    video: "M3 6h12v12H3zM17 10l5-3v10l-5-3z",
    images: "M6 2h16v14H6zM2 6h2v12h14v2H2z",
    save: "M4 3h13l4 4v14H4zm4 2v5h8V5zm4 8a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    link: "M10 14a4 4 0 0 1 0-5.7l3-3a4 4 0 0 1 5.7 5.7L17 12.7l-1.4-1.4 1.7-1.7a2 2 0 0 0-2.9-2.9l-3 3a2 2 0 0 0 0 2.9zM14 10a4 4 0 0 1 0 5.7l-3 3A4 4 0 0 1 5.3 13L7 11.3l1.4 1.4-1.7 1.7a2 2 0 0 0 2.9 2.9l3-3a2 2 0 0 0 0-2.9z",
    frame: "M4 9V4h5v2H6v3zM15 4h5v5h-2V6h-3zM4 15h2v3h3v2H4zM18 15h2v5h-5v-2h3z",
    theme: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 3a7 7 0 0 1 0 14z",
    help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 15h2v2h-2zm3.5-6.5L13 12v2.5h-2v-3.3l2.2-2.1A1.7 1.7 0 1 0 10.3 8H8.2a3.8 3.8 0 1 1 6.3 2.5z",
    split: "M3 4h8v16H3zm10 0h8v16h-8zm2 2v12h4V6z",
    close: "M5 6.4L6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4L12 13.4 6.4 19 5 17.6 10.6 12z",
    panels: "M3 4h18v16H3zm2 2v12h5V6zm7 0v12h7V6z",
} as const;
export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    setIcon(svg, name);
    return svg;
}

export function setIcon(svg: SVGSVGElement, name: IconName): void {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", ICONS[name]);
    path.setAttribute("fill-rule", "evenodd");
    svg.replaceChildren(path);
}

/** A button; `label` is its tooltip, and its name for screen readers if it shows a picture instead of a text. */
export function button(test: string, label: string, content: IconName | string, action: () => void, extra = ""): HTMLButtonElement {
    const known = content in ICONS;
    return h(
        "button",
        { type: "button", class: `button ${known ? "icon" : ""} ${extra}`.trim(), title: label, "aria-label": known ? label : null, "data-test": test, onclick: action },
        known ? (icon(content as IconName) as unknown as Node) : content,
    );
}

/** Offers `data` to the user as a file. */
export function download(name: string, data: Blob): void {
    const address = URL.createObjectURL(data);
    const link = h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
