/**
 * Modules in JavaScript run in threads too, which read no TypeScript from the sources.
 *
 * @typedef {object} LineMatch
 * @property {number} line
 * @property {number} start
 * @property {number} end
 * @property {string | null} group The first group, where the pattern has one that took part.
 */

/**
 * @param {import('re2js').RE2JS} regex
 * @param {readonly string[]} lines
 * @param {number} max
 */
export const findInLines = (regex, lines, max) => {
  /** @type {LineMatch[]} */
  const found = []
  const matcher = regex.matcher('')
  for (let line = 0; line < lines.length; line++) {
    matcher.resetMatcherInput(lines[line] ?? '')
    while (matcher.find()) {
      const group = matcher.groupCount() > 0 ? matcher.group(1) : null
      found.push({ line, start: matcher.start(), end: matcher.end(), group })
      if (found.length >= max) return found
    }
  }
  return found
}

/**
 * `$1`, `$&` and `$<name>` in the replacement have JavaScript's meaning.
 *
 * @param {import('re2js').RE2JS} regex
 * @param {string} text
 * @param {string} replacement
 */
export const replaceIn = (regex, text, replacement) => {
  let count = 0
  const matcher = regex.matcher(text)
  while (matcher.find()) count++
  return { count, text: count === 0 ? text : regex.matcher(text).replaceAll(replacement) }
}
