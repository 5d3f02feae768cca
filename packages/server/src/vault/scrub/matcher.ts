import { fold } from './fold.ts'
import { type Form, formBytesMin } from './forms.ts'

export type Pattern = Form & { readonly name: string }
export type Found = { readonly pattern: Pattern; readonly start: number; readonly end: number }

const block = 3
const nobody: readonly Pattern[] = []
const nothing: readonly Found[] = []
const tableBits = 16

const hash = (a: number, b: number, c: number): number =>
  ((a << 10) ^ (b << 5) ^ c) & ((1 << tableBits) - 1)

/**
 * Looks for all patterns in one pass (after Wu and Manber): a table says how far no pattern can begin, so
 * that most bytes are never looked at; only where a pattern's first eight bytes may end are they compared.
 */
export class Matcher {
  readonly #shift = new Uint8Array(1 << tableBits).fill(formBytesMin - block + 1)
  readonly #ending = new Map<number, Pattern[]>()

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns) {
      const { bytes } = pattern
      for (let end = block - 1; end < formBytesMin; end += 1) {
        const at = hash(bytes[end - 2] as number, bytes[end - 1] as number, bytes[end] as number)
        const left = formBytesMin - 1 - end
        if (left < (this.#shift[at] as number)) this.#shift[at] = left
        if (left === 0) this.#ending.set(at, [...(this.#ending.get(at) ?? []), pattern])
      }
    }
  }

  /** Every place of every pattern; a pattern is not looked for within its own last place. */
  find(text: Uint8Array): readonly Found[] {
    const shifts = this.#shift
    let found: Found[] | null = null
    let reached: Map<Pattern, number> | null = null
    for (let i = formBytesMin - 1; i < text.length; ) {
      const key = hash(
        fold[text[i - 2] as number] as number,
        fold[text[i - 1] as number] as number,
        fold[text[i] as number] as number,
      )
      const shift = shifts[key] as number
      if (shift > 0) {
        i += shift
        continue
      }
      const start = i - formBytesMin + 1
      for (const pattern of this.#ending.get(key) ?? nobody) {
        if (start < (reached?.get(pattern) ?? 0) || !stands(pattern.bytes, text, start)) continue
        const end = start + pattern.bytes.length
        reached ??= new Map()
        reached.set(pattern, end)
        found ??= []
        found.push({ pattern, start, end })
      }
      i += 1
    }
    return found ?? nothing
  }
}

function stands(pattern: Uint8Array, text: Uint8Array, start: number): boolean {
  if (start + pattern.length > text.length) return false
  for (let i = 0; i < pattern.length; i += 1)
    if (fold[text[start + i] as number] !== pattern[i]) return false
  return true
}
