/** Control characters but for line breaks and tabs. */
const control = /(?![\n\t\r])\p{Cc}/gu

/**
 * Characters that show nothing, or that show what is around them in another order: format characters, tags,
 * variation selectors, fillers, surrogates and private use.
 */
const hidden =
  /[\p{Cf}\p{Cs}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5|\p{Variation_Selector}/gu

/** Joiners and selectors belong to these; alone they show nothing. */
const emoji =
  /\p{Extended_Pictographic}[\ufe0e\ufe0f]?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f]?)*/gu

const longest = 4_000

const codes = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set(
    (text.match(pattern) ?? []).map(
      (found) => `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
    ),
  ),
]

export const controlCharacters = (text: string): readonly string[] => codes(text, control)
export const hiddenCharacters = (text: string): readonly string[] =>
  codes(text.replace(emoji, ''), hidden)

/** A text from outside as a model is shown it: nothing that a person would not see, and not endless. */
export const visibleText = (text: string, max = longest): string => {
  const visible = text.replace(control, ' ').replace(hidden, '')
  return visible.length <= max ? visible : `${visible.slice(0, max - 1)}…`
}
