import pg from 'pg'

export type Statement = { readonly text: string; readonly values: readonly unknown[] }

type Given = string | { readonly text?: string; readonly values?: readonly unknown[] }

const isData = /^\s*(select|insert|update|delete|with)\b/i

/** Every statement on data that any client of this process runs until disposed: the text once, with its first values. */
export const collectStatements = (): Disposable & { readonly found: Map<string, Statement> } => {
  const found = new Map<string, Statement>()
  const { prototype } = pg.Client
  const run = Reflect.get(prototype, 'query') as (...given: unknown[]) => unknown
  const query = function (this: pg.Client, ...given: unknown[]): unknown {
    const [first, second] = given as [Given, unknown]
    const { text = '', values = [] } = typeof first === 'string' ? { text: first } : first
    const bound = Array.isArray(second) ? second : values
    if (isData.test(text) && !found.has(text)) found.set(text, { text, values: bound })
    return run.apply(this, given)
  }
  Reflect.set(prototype, 'query', query)
  return { found, [Symbol.dispose]: () => void Reflect.set(prototype, 'query', run) }
}

/** Values that a cast to a number, a time, a truth value or JSON fails on. */
const poison = ['not a number', '{"not": "closed"', '1'.repeat(30), 'é'] as const
const rowsOfEach = 3

const valueOf = (type: string, at: number): string => {
  const text = `${poison[at % poison.length]} ${at}`
  if (type === 'bytea') return `convert_to('${text}', 'UTF8')`
  if (type === 'tsvector') return `to_tsvector('simple', '${text}')`
  if (type === 'boolean') return `${at % 2 === 0}`
  return type === 'text' ? `'${text}'` : `${at}`
}

/** Fills every table with rows that no statement of a test chooses, and gives the planner statistics of them. */
export const poisonTables = async (client: pg.Client): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string; columns: [string, string][] }>(
    `select t.table_name as name, json_agg(json_build_array(c.column_name, c.data_type)) as columns
     from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and t.table_name not like 'schema_migrations%' and c.is_identity = 'NO' and c.is_generated = 'NEVER'
     group by 1`,
  )
  await client.query('set session_replication_role = replica')
  for (const { name, columns } of rows) {
    // Without text there is nothing that a cast could fail on, and a table of one row takes no other.
    if (!columns.some(([, type]) => type === 'text')) continue
    const all = Array.from({ length: poison.length * rowsOfEach }, (_, at) => {
      const values = columns.map(([, type]) => valueOf(type, at + 100))
      return `(${values.join(', ')})`
    })
    const names = columns.map(([column]) => `"${column}"`).join(', ')
    await client.query(
      `insert into "${name}" (${names}) values ${all.join(', ')} on conflict do nothing`,
    )
  }
  await client.query('set session_replication_role = origin')
  await client.query('analyze')
  return rows.map(({ name }) => name)
}

/** A data exception: a value that a cast or a function cannot take. */
const dataException = /^22/

/** The statements that fail on rows which they do not choose. What else they change or break is rolled back. */
export const replayStatements = async (
  client: pg.Client,
  statements: Iterable<Statement>,
): Promise<readonly string[]> => {
  const failed: string[] = []
  for (const { text, values } of statements) {
    await client.query('begin')
    try {
      await client.query(text, [...values])
    } catch (cause) {
      const code = cause instanceof pg.DatabaseError ? (cause.code ?? '') : `${cause}`
      if (dataException.test(code)) failed.push(`${code}: ${text}`)
    } finally {
      await client.query('rollback')
    }
  }
  return failed
}

/** Casts of a column by its name: they fail on any row with another kind of value that a plan evaluates them on. */
export const castColumns = (text: string): readonly string[] => {
  const name = '(?!null\\b)[a-z_"][\\w".]*'
  const casts = new RegExp(
    `(?<![\\w$".])${name}\\s*::\\s*\\w+|cast\\(\\s*${name}\\s+as\\s+\\w+`,
    'gi',
  )
  return text.match(casts) ?? []
}
