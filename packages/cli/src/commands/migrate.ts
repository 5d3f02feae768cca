import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { readInputFile } from '../read-input-file.ts'

const withoutPassword = (url: string): string => {
  try {
    const parsed = new URL(url)
    parsed.password = ''
    parsed.search = ''
    return parsed.href
  } catch {
    return 'PostgreSQL'
  }
}

const engineName = (engine: string): string => (engine === 'sqlite' ? 'SQLite' : 'PostgreSQL')

const sumOf = (tables: Readonly<Record<string, number>>): number =>
  Object.values(tables).reduce((sum, rows) => sum + rows, 0)

const tableLines = (tables: Readonly<Record<string, number>>): string[] =>
  Object.entries(tables)
    .filter(([, rows]) => rows > 0)
    .map(([name, rows]) => `  ${name}: ${rows}`)

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Move the data to PostgreSQL or back to SQLite, while no server runs',
  options: {
    to: { value: 'URL', about: 'move from SQLite to this empty database (- reads the input)' },
    back: { about: 'move from PostgreSQL to SQLite in the data directory' },
    'dry-run': { about: 'show what would be moved, and change nothing' },
  },
  examples: [
    'gatehouse migrate --to postgres://gatehouse@db.example/gatehouse --dry-run',
    'gatehouse migrate --to - --yes < database-url',
    'gatehouse migrate --back --yes',
  ],
  async look({ io }, { to, back }) {
    if ((to === undefined) !== back) throw usageError('Give either --to URL or --back.')
    if (to === undefined) return { url: null }
    const url = to === '-' ? (await readInputFile('-', io)).trim() : to
    if (!/^postgres(ql)?:\/\//.test(url))
      throw usageError('--to takes a URL such as postgres://USER@HOST/DATABASE.')
    return { url }
  },
  question: ({ 'dry-run': dryRun }, { url }) =>
    dryRun
      ? null
      : `Move all data to ${url === null ? 'SQLite in the data directory' : escapeText(withoutPassword(url))}?`,
  async run({ dataDir: findDataDir, configFile, note }, { 'dry-run': dryRun }, { url }) {
    const dataDir = await findDataDir()
    const { moveStore } = await import('@gatehouse/server/migrate')
    return moveStore({
      ...{ dataDir, url, dryRun },
      ...(configFile === undefined ? {} : { configFile }),
      onTable: (name, rows) => {
        if (rows > 0) void note(`${name}: ${counted(rows, 'row')} copied and compared`)
      },
    })
  },
  text({ engine, data_dir, tables, dry_run, kept }, { next }) {
    const rows = counted(sumOf(tables), 'row')
    if (dry_run)
      return [
        `${rows} would be moved to ${engineName(engine)}:`,
        ...tableLines(tables),
        'Nothing was changed.',
      ].join('\n')
    return [
      `${rows} of ${escapeText(data_dir)} are in ${engineName(engine)} now; the audit log is verified.`,
      ...(kept === null ? [] : [`The SQLite store as it was: ${escapeText(kept)}`]),
      `Start it: ${next('serve')}`,
    ].join('\n')
  },
})
