/** Texts that many entries share, each by a number. The empty text is 0. */
export class Words {
  readonly #texts: string[]
  readonly #numbers: Map<string, number>

  constructor(texts: readonly string[] = ['']) {
    this.#texts = [...texts]
    this.#numbers = new Map(this.#texts.map((text, number) => [text, number]))
  }

  get texts(): readonly string[] {
    return this.#texts
  }

  /** The number of a text, which is given one where it is new. */
  number(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#texts.push(text) - 1
    this.#numbers.set(text, number)
    return number
  }

  find(text: string): number | undefined {
    return this.#numbers.get(text)
  }

  text(number: number): string {
    return this.#texts[number] ?? ''
  }
}
