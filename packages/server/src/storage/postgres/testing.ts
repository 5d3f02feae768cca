import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** Runs statements one after the other on a connection of their own. */
export const query = async (url: string, ...statements: string[]): Promise<pg.QueryResult[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const results: pg.QueryResult[] = []
    for (const statement of statements) results.push(await client.query(statement))
    return results
  } finally {
    await client.end()
  }
}

export type TestDatabase = AsyncDisposable & { readonly name: string; readonly url: string }

/** A database of its own for one test, dropped when disposed. */
export const createDatabase = async (serverUrl: string, options = ''): Promise<TestDatabase> => {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `create database ${name} ${options}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      await query(serverUrl, `drop database ${name} with (force)`)
    },
  }
}
