import { foldAll } from './fold.ts'
import { unescaped } from './views.ts'

/** The shortest form that is looked for: what is shorter is found by chance. */
export const formBytesMin = 8

/** One spelling of a secret. */
export type Form = {
  /** Folded. */
  readonly bytes: Uint8Array
  /** How many characters before and after it still hold bits of the secret: of base64 only. */
  readonly before: 0 | 1
  readonly after: 0 | 1
}

/** Characters of base64 that depend on the secret alone, wherever it stands in the encoded text. */
const base64Forms = (plain: Buffer): Form[] =>
  [0, 1, 2].map((offset) => {
    const bits = (offset + plain.length) * 8
    const text = Buffer.concat([Buffer.alloc(offset), plain]).toString('base64')
    const first = Math.ceil((offset * 8) / 6)
    const end = Math.floor(bits / 6)
    return {
      bytes: foldAll(Buffer.from(text.slice(first, end), 'latin1')),
      before: offset === 0 ? 0 : 1,
      after: bits % 6 === 0 ? 0 : 1,
    }
  })

const utf16be = (value: string): Buffer => Buffer.from(value, 'utf16le').swap16()

const hexForms = (plain: Buffer): string[] => {
  const hex = plain.toString('hex')
  return [hex, hex.replace(/..(?=.)/g, '$&:')]
}

const isWithin = (value: string, highest: number): boolean =>
  Array.from(value).every((char) => (char.codePointAt(0) ?? 0) <= highest)

/**
 * Forms of letters beyond ASCII on the way: headers carry them as one byte each, and who reads those
 * as UTF-8, or UTF-8 as those, sees others.
 */
const foreignBytes = (value: string): Buffer[] => {
  if (isWithin(value, 0x7f)) return []
  const plain = Buffer.from(value, 'utf8')
  const misread = Buffer.from(plain.toString('latin1'), 'utf8')
  if (!isWithin(value, 0xff)) return [misread]
  const narrow = Buffer.from(value, 'latin1')
  return [misread, narrow, Buffer.from(narrow.toString('utf8'), 'utf8')]
}

/**
 * Every spelling in which a secret is looked for. Escapes are no spellings: they are undone in what is
 * searched, whatever their mixture, and so they are in a secret that has some in it.
 */
export function formsOf(value: string): readonly Form[] {
  const plain = Buffer.from(value, 'utf8')
  const others = foreignBytes(value)
  const texts: Uint8Array[] = [plain]
  for (
    let view = unescaped({ bytes: plain, from: null, to: null }, false);
    view !== null && texts.length < 4;
    view = unescaped(view, false)
  )
    texts.push(view.bytes)
  // The search folds the case of ASCII by itself.
  const cases = others.length === 0 ? [] : [value.toUpperCase(), value.toLowerCase()]
  texts.push(...others, ...cases.map((text) => Buffer.from(text, 'utf8')))
  // As it is found where white space was taken out.
  if (/\s/.test(value)) texts.push(Buffer.from(value.replace(/\s/g, ''), 'utf8'))
  const whole = [
    ...texts,
    ...[plain, ...others].flatMap(hexForms).map((hex) => Buffer.from(hex, 'latin1')),
  ].map((bytes): Form => ({ bytes: foldAll(bytes), before: 0, after: 0 }))
  const encoded = [plain, ...others, Buffer.from(value, 'utf16le'), utf16be(value)].flatMap(
    base64Forms,
  )
  const seen = new Set<string>()
  return [...whole, ...encoded].filter(({ bytes }) => {
    const text = Buffer.from(bytes).toString('latin1')
    if (bytes.length < formBytesMin || seen.has(text)) return false
    seen.add(text)
    return true
  })
}
