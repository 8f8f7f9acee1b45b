// Dark or light theme: that of the system, unless the user chooses the other one.

import { Color } from "three";
import type { Colors } from "./view/surroundings.ts";

const STORED = "lilyan.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function startTheme(changed: () => void): { toggle(): void } {
    const apply = () => {
        const chosen = localStorage.getItem(STORED);
        document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
        changed();
    };
    dark.addEventListener("change", apply);
    apply();
    return {
        toggle() {
            const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
            // The theme of the system needs no stored choice.
            if ((next === "dark") === dark.matches) localStorage.removeItem(STORED);
            else localStorage.setItem(STORED, next);
            apply();
        },
    };
}

/** The colours of the picture, from the style sheet of the page. */
export function sceneColors(): Colors {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => new Color(style.getPropertyValue(name).trim());
    return { background: color("--sky"), ground: color("--ground"), grid: color("--grid"), edge: color("--edge") };
}
