const heading = /^## \[([^\]]+)\](?: - (\S+))?$/

/** The sections of a changelog in the form of Keep a Changelog: version, date and text of each, in the file's order. */
export const readChangelog = (text) => {
  const sections = []
  for (const line of text.split('\n')) {
    const found = heading.exec(line)
    if (found) sections.push({ version: found[1], date: found[2] ?? null, lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }))
}

export const sectionOf = (sections, version) =>
  sections.find((section) => section.version === version) ?? null
