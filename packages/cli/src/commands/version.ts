import { readFileSync } from 'node:fs'
import { defineCommand } from '../define.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'Show the version of Gatehouse',
  examples: ['gatehouse version', 'gatehouse version --json'],
  async run() {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    const { version } = JSON.parse(text) as { version: string }
    return { version, node: process.versions.node }
  },
  text: ({ version }) => version,
})
