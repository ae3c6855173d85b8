/** Pointer events on a strip that stands for a whole text. */

/** Call `point` with the pointer's position in the strip, in CSS pixels, and if it is pressed. */
export function bindStripPointer(
  strip: HTMLElement,
  point: (x: number, y: number, pressed: boolean) => void,
  leave: () => void,
): void {
  let pressed = false;
  const pointed = (event: PointerEvent) => {
    const { left, top } = strip.getBoundingClientRect();
    point(event.clientX - left, event.clientY - top, pressed);
  };
  strip.addEventListener("pointermove", pointed);
  strip.addEventListener("pointerdown", (event) => {
    strip.setPointerCapture(event.pointerId);
    pressed = true;
    pointed(event);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    strip.addEventListener(end, () => {
      pressed = false;
    });
  }
  strip.addEventListener("pointerleave", leave);
}
