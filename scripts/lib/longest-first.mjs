import path from 'node:path'
import { BaseSequencer } from 'vitest/node'

/** Stages of a run, by project: a mistake in a function is seen before what is built on it is tried. */
const stages = ['unit', 'postgres', 'integration', 'e2e']

/**
 * Files of at least 15 s where nothing else runs, the longest first. Begun early in their stage: one that comes last
 * leaves the other workers without work.
 */
export const longest = [
  'test/dashboard/keyboard-actions.test.ts',
  'test/mcp-bridge.test.ts',
  'test/dashboard/pages.test.ts',
  'test/selftest.test.ts',
  'test/several-nodes.test.ts',
  'test/workers.test.ts',
  'test/balanced-nodes.test.ts',
  'test/workers-log.test.ts',
  'test/nodes-under-chaos.test.ts',
  'packages/server/src/storage/postgres/postgres.test.ts',
  'test/upstream.test.ts',
  'test/dashboard/load.test.ts',
  'test/models.test.ts',
  'test/published-package.test.ts',
  'test/memory.test.ts',
  'test/dashboard/people.test.ts',
  'test/dashboard/approvals.test.ts',
  'packages/cli/test/every-error.test.ts',
  'test/conformance.test.ts',
  'test/docs.test.ts',
  'packages/cli/test/interrupted-import.test.ts',
  'packages/server/test/integration/swapped-places.test.ts',
  'test/attacks/supervision.test.ts',
  'test/local-models.test.ts',
  'test/mcp-clients.test.ts',
  'test/dashboard/policy.test.ts',
  'packages/server/test/integration/git-remote.test.ts',
  'packages/cli/test/next-steps.test.ts',
  'test/time.test.ts',
  'test/backup.test.ts',
  'test/client-hooks.test.ts',
  'packages/server/test/integration/git-previews.test.ts',
]

const ranks = new Map(longest.map((file, rank) => [file, rank]))

/** Order of the files of all projects, of which the workers take one after the other. */
export class LongestFirst extends BaseSequencer {
  /** @override */
  async sort(files) {
    const rankOf = ({ moduleId }) =>
      ranks.get(path.relative(this.ctx.config.root, moduleId)) ?? longest.length
    const stageOf = ({ project }) => stages.indexOf(project.name)
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => stageOf(a) - stageOf(b) || rankOf(a) - rankOf(b))
  }
}
