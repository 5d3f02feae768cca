import { writeFile } from 'node:fs/promises'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { endedBy } from '../ended.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { ownVersion } from '../own-version.ts'
import { htmlOfReport, textOfReport } from '../selftest/report.ts'
import { type SectionName, type Size, sectionNames } from '../selftest/section.ts'

const isSection = (name: string): name is SectionName =>
  (sectionNames as readonly string[]).includes(name)

const chosen = (only: readonly string[] | undefined): readonly SectionName[] => {
  const stranger = only?.find((name) => !isSection(name))
  if (stranger !== undefined)
    throw usageError(`There is no section "${stranger}". There are ${sectionNames.join(', ')}.`)
  return only === undefined ? sectionNames : sectionNames.filter((name) => only.includes(name))
}

const barWidth = 24

/** One line that is written over, as long as a terminal shows it. */
const bar = (name: string, share: number): string => {
  const full = Math.round(share * barWidth)
  return `\r${'#'.repeat(full)}${'.'.repeat(barWidth - full)} ${Math.round(share * 100)} % ${name.padEnd(10)}`
}

/** Settings and tokens of the person who runs it are not those of the services that it starts. */
const plainEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GATEHOUSE_')))

export const selftest = defineCommand({
  name: 'selftest',
  summary: "Test Gatehouse's guarantees on this machine, in temporary folders",
  options: {
    only: { value: 'SECTIONS', many: true, about: `some of ${sectionNames.join(', ')}` },
    quick: { about: 'a minute rather than ten: fewer kills, changes and calls' },
    long: { about: 'hours, as for a release: 200 kills, 10,000 changes' },
    html: { value: 'FILE', about: 'write the report as a page, too' },
  },
  examples: ['gatehouse selftest', 'gatehouse selftest --quick --only kills,tampering --json'],
  async run({ io, json, quiet }, { only, quick, long, html }) {
    if (quick && long) throw usageError('Choose --quick or --long.')
    const size: Size = quick ? 'quick' : long ? 'long' : 'usual'
    const names = chosen(only)
    using signal = endedBy(io.signal)
    const { runSelftest } = await import('../selftest/run-selftest.ts')
    const shows = io.stderr.isTTY && !json && !quiet
    const report = await runSelftest({
      program: { command: io.self, environment: plainEnvironment(io.env) },
      version: ownVersion(),
      ...{ names, size, signal },
      progress: (name, share) => void (shows && io.stderr.write(bar(name, share))),
    })
    if (shows) await io.stderr.write(`\r${' '.repeat(barWidth + 20)}\r`)
    if (html !== undefined) {
      await writeFile(html, htmlOfReport(report))
      if (!json && !quiet) await io.stderr.write(`Wrote ${escapeText(html)}.\n`)
    }
    return report
  },
  text: textOfReport,
  exitCode: ({ verdict }) => (verdict === 'holds' ? exitCodes.done : exitCodes.failed),
})
