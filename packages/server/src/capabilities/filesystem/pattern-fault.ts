/** Findings of the library, in our words. */
const faults: readonly (readonly [string, string])[] = [
  ['missing closing )', 'a closing ) is missing'],
  ['unexpected )', 'a ) closes nothing'],
  ['missing closing ]', 'a closing ] is missing'],
  ['missing argument to repetition operator', 'a *, + or ? has nothing to repeat'],
  ['invalid nested repetition operator', 'a *, + or ? follows another one'],
  ['invalid repeat count', 'the count in {} is not usable'],
  ['invalid character class range', 'a range in [] is the wrong way round'],
  ['invalid escape sequence', 'there is no such escape after a backslash'],
  ['trailing backslash', 'it ends with a backslash'],
  ['invalid named capture', 'the name of a group is not usable'],
  ['invalid or unsupported Perl syntax', 'look-around and the like are not supported (RE2 syntax)'],
]

/** Fault of a pattern that the library refused with this text. */
export const describePatternFault = (said: string): string =>
  faults.find(([name]) => said.includes(name))?.[1] ?? 'it is not RE2 syntax'
