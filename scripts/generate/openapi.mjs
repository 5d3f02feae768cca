import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../lib/run.mjs'

export const openapi = {
  file: 'docs/reference/openapi.json',
  async render() {
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
    const { createOpenApi } = await import('../../packages/server/dist/transport/rest/openapi.js')
    return `${JSON.stringify(createOpenApi(version), null, 2)}\n`
  },
}
