import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFormat } from '../../domain/data-format.ts'
import { SqliteConnection } from './adapter.ts'
import { openSqlite } from './open.ts'

/** Tables, indexes and triggers as the migrations leave them, each with its definition. */
const schemaOf = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-schema-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gatehouse.db')
  await (await openSqlite({ file }))[Symbol.asyncDispose]()
  using database = new SqliteConnection(file, { readOnly: true })
  const { rows } = database.run(
    `select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by type, name`,
    [],
  )
  return rows.map(({ sql }) => `${String(sql)};\n`).join('')
}

const pinned = (format: number): string => {
  try {
    return readFileSync(new URL(`./schema-${format}.sql`, import.meta.url), 'utf8')
  } catch {
    return `no schema is pinned for format ${format}`
  }
}

test('another schema has another data format, so that an older program refuses it', async () => {
  const schema = await schemaOf()
  expect(
    schema,
    `The schema is another than that of format ${dataFormat}. Raise dataFormat in domain/data-format.ts, and ` +
      `write what was received to schema-${dataFormat + 1}.sql in the place of schema-${dataFormat}.sql.`,
  ).toBe(pinned(dataFormat))
})
