import { arch, cpus, platform, release, totalmem } from 'node:os'
import type { Finding, SectionName, Size } from './section.ts'

export type SectionReport = {
  readonly section: SectionName
  readonly seconds: number
  readonly findings: readonly Finding[]
}

export type Report = {
  readonly format: 'gatehouse-selftest-v1'
  readonly verdict: 'holds' | 'fails'
  readonly version: string
  readonly size: Size
  readonly started_at: string
  readonly seconds: number
  readonly machine: {
    readonly cpu: string
    readonly cores: number
    readonly memory_gib: number
    readonly system: string
    readonly node: string
  }
  readonly sections: readonly SectionReport[]
}

export const machineOf = (): Report['machine'] => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()} ${arch()}`,
  node: process.version,
})

const marks = { holds: 'holds', fails: 'FAILS', skipped: 'skipped' } as const

const head = ({ version, size, machine, started_at, seconds }: Report): string[] => [
  `Gatehouse ${version}, ${size} form, ${started_at}, ${Math.round(seconds)} s`,
  `${machine.cores} × ${machine.cpu}, ${machine.memory_gib} GiB, ${machine.system}, Node ${machine.node}`,
]

/** The report for a terminal. */
export const textOfReport = (report: Report): string =>
  [
    ...head(report),
    ...report.sections.flatMap(({ section, seconds, findings }) => [
      '',
      `${section} (${Math.round(seconds)} s)`,
      ...findings.map(
        ({ what, verdict, detail }) =>
          `  ${marks[verdict].padEnd(8)} ${what}\n           ${detail}`,
      ),
    ]),
    '',
    report.verdict === 'holds' ? 'Everything that was tried holds.' : 'NOT EVERYTHING HOLDS.',
  ].join('\n')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse;width:100%}td{padding:.4rem .6rem;border-top:1px solid #ddd;vertical-align:top}
td:first-child{white-space:nowrap;width:5.5rem;font-weight:600}.holds{color:#16652c}.fails{color:#b3141d}.skipped{color:#6b5200}
small{color:#555}h2{margin-top:2rem}
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}td{border-color:#3a3a3a}.holds{color:#6fd08c}.fails{color:#ff8a8a}.skipped{color:#e3c15c}small{color:#aaa}}`

/** The same as one page that needs nothing else. */
export const htmlOfReport = (report: Report): string => {
  const row = ({ what, verdict, detail }: Finding): string =>
    `<tr><td class="${verdict}">${marks[verdict]}</td><td>${escaped(what)}<br><small>${escaped(detail)}</small></td></tr>`
  const sections = report.sections.map(
    ({ section, seconds, findings }) =>
      `<h2>${section} <small>${Math.round(seconds)} s</small></h2><table>${findings.map(row).join('')}</table>`,
  )
  const verdict =
    report.verdict === 'holds' ? 'Everything that was tried holds' : 'Not everything holds'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Gatehouse selftest: ${verdict}</title><style>${style}</style></head>
<body><h1 class="${report.verdict}">${verdict}</h1>
${head(report)
  .map((line) => `<p>${escaped(line)}</p>`)
  .join('')}
${sections.join('\n')}
</body></html>
`
}
