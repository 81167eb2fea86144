/** The completion of a text field in a page: a list of options below the field. */

/** A field with its list. The page's HTML has both in one element of the class `field`. */
export class Completion {
  private readonly list: HTMLElement;

  /** `ask` requests the options for a text. */
  constructor(
    private readonly input: HTMLInputElement,
    field: HTMLElement,
    private readonly ask: (text: string) => void,
  ) {
    this.list = field.querySelector<HTMLElement>('[role=listbox]') ?? field;
    input.addEventListener('input', () => this.changed());
    field.addEventListener('keydown', (event) => this.pressed(event));
    field.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && field.contains(relatedTarget))) {
        this.hide();
      }
    });
  }

  /** Show the options, unless the user has changed the text in the meantime. */
  show(text: string, options: readonly string[]): void {
    if (this.input.value !== text || options.length === 0) {
      this.hide();
      return;
    }
    const buttons = options.map((option) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = option;
      button.setAttribute('role', 'option');
      button.addEventListener('click', () => this.choose(option));
      return button;
    });
    this.list.replaceChildren(...buttons);
    this.list.hidden = false;
  }

  private hide(): void {
    this.list.hidden = true;
  }

  private choose(option: string): void {
    this.input.value = option;
    this.input.focus();
    this.changed();
  }

  private changed(): void {
    this.hide();
    if (this.input.selectionStart === this.input.value.length) {
      this.ask(this.input.value);
    }
  }

  /** Move through the options by the arrow keys; Escape closes the list. */
  private pressed(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (this.list.hidden || (step === undefined && event.key !== 'Escape')) {
      return;
    }
    event.preventDefault();
    const places = [this.input, ...Array.from(this.list.querySelectorAll('button'))];
    const place = step === undefined ? 0 : places.indexOf(document.activeElement as HTMLButtonElement) + step;
    places[Math.min(Math.max(place, 0), places.length - 1)]?.focus();
    if (step === undefined) {
      this.hide();
    }
  }
}
