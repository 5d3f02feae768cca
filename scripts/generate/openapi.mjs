import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../lib/run.mjs'

export const openapi = {
  file: 'docs/reference/openapi.json',
  async render() {
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
    const rest = '../../packages/server/dist/transport/rest'
    const { createOpenApi } = await import(`${rest}/openapi.js`)
    const { createTable } = await import(`${rest}/table.js`)
    return `${JSON.stringify(createOpenApi(createTable(version), version), null, 2)}\n`
  },
}
