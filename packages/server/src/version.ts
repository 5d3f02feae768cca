import { readFileSync } from 'node:fs'

const { version: text } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as {
  version: string
}

/** The version of the package: at the handshake, in `GET /api/status` and in run.json. */
export const version = text
