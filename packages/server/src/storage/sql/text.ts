/**
 * Free text from agents and people may hold a NUL, which PostgreSQL refuses, or half a surrogate pair,
 * which UTF-8 cannot carry. One such name must not fail the commit of a whole group, nor change what is
 * read back: these code units are stored as `\uXXXX`, and a backslash as two.
 */
export const encodeText = (text: string): string =>
  /[\\\0]|\p{Surrogate}/u.test(text)
    ? text.replace(/[\\\0]|\p{Surrogate}/gu, (unit) =>
        unit === '\\' ? '\\\\' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    : text

export const decodeText = (stored: string): string =>
  stored.includes('\\')
    ? stored.replace(/\\(?:\\|u([0-9a-f]{4}))/g, (_, hex?: string) =>
        hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : stored

export const encodeTextOrNull = (text: string | null): string | null =>
  text === null ? null : encodeText(text)

export const decodeTextOrNull = (stored: string | null): string | null =>
  stored === null ? null : decodeText(stored)

/** The least text, by code points, that is above everything with this prefix; null = there is none. */
export const afterPrefix = (prefix: string): string | null => {
  const points = Array.from(prefix, (char) => char.codePointAt(0) as number)
  while (points.length > 0) {
    const last = points.pop() as number
    if (last === 0x10ffff) continue
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return null
}
