import pg from 'pg'

/** Longer than the server lets a statement run, so that it is the server that ends one, where it can be heard. */
const answerMaxMs = 35_000
const connectMaxMs = 10_000
const goodbyeMaxMs = 2_000

/** @NOTE `pg` tells its own time-outs by their texts alone; bounded-client.test.ts. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  /^(Query read timeout|timeout e|Connection terminated due to connection timeout)/.test(
    error.message,
  )

/**
 * A connection that waits only so long. A network that drops packets ends none: without a bound, whoever waits for the
 * database would wait for as long as the kernel sends again, which is many minutes. One that did not answer in time is closed, since
 * its answer could still come in the place of the next one's.
 */
export class BoundedClient extends pg.Client {
  override query = ((...given: Parameters<pg.Client['query']>): unknown => {
    const ask = pg.Client.prototype.query as (...all: unknown[]) => unknown
    const asked = ask.apply(this, given)
    if (!(asked instanceof Promise)) return asked
    return asked.catch((error: unknown) => {
      if (isTimeout(error)) this.connection.stream.destroy()
      throw error
    })
  }) as pg.Client['query']

  override end = ((...given: [] | [(error: Error) => void]) => {
    const giveUp = setTimeout(() => this.connection.stream.destroy(), goodbyeMaxMs).unref()
    this.once('end', () => clearTimeout(giveUp))
    return Reflect.apply(pg.Client.prototype.end, this, given) as unknown
  }) as pg.Client['end']
}

/** Options of every connection, by a pool or alone; `answerMs` for tests, which do not wait so long. */
export const bounded = (url: string, answerMs = answerMaxMs) => ({
  connectionString: url,
  keepAlive: true,
  connectionTimeoutMillis: Math.min(connectMaxMs, answerMs),
  query_timeout: answerMs,
})
