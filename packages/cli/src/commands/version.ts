import { defineCommand } from '../define.ts'
import { ownVersion } from '../own-version.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'Show the version of Gatehouse',
  examples: ['gatehouse version', 'gatehouse version --json'],
  async run() {
    return { version: ownVersion(), node: process.versions.node }
  },
  text: ({ version }) => version,
})
