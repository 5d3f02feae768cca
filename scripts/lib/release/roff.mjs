/** Text of a manual page: signs that the formatter would take for its own are kept as they are. */
export const roffText = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/[‘’]/g, "'")
    .replace(/^(?=[.'])/gm, '\\&')

export const bold = (text) => `\\fB${roffText(text)}\\fR`
export const italic = (text) => `\\fI${roffText(text)}\\fR`

export const section = (name, ...lines) => [`.SH ${name}`, ...lines]

/** A list of terms, each with what it means. */
export const terms = (pairs) =>
  pairs.flatMap(([term, meaning]) => ['.TP', term, roffText(meaning) || '\\&'])

export const example = (lines) => ['.nf', ...lines.map(roffText), '.fi']

export const page = ({ name, volume, version, date, summary, sections }) => [
  `.TH ${roffText(name).toUpperCase()} ${volume} ${date} "Gatehouse ${version}" "Gatehouse manual"`,
  ...section('NAME', `${roffText(name)} \\- ${roffText(summary)}`),
  ...sections.flat(),
]
