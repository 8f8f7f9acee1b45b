// Files that a test imports as text.
declare module "*?raw" {
    const text: string;
    export default text;
}
