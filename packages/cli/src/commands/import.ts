import { scopes } from '../clients/client.ts'
import { findDataDir } from '../clients/connect-client.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { readInterrupted } from '../imports/import-journal.ts'
import { importedText, questionText, undoneText } from '../imports/import-text.ts'
import { foundText } from '../imports/list-found.ts'
import { prepareImport } from '../imports/prepare-import.ts'
import { runImport } from '../imports/run-import.ts'
import { planUndo, undoImports, undoneOf } from '../imports/undo-import.ts'

export const importServers = defineCommand({
  name: 'import',
  summary: 'Put the MCP servers that clients have configured behind the gate',
  args: {
    client: { about: 'clients, as connect names them (all)', many: true, optional: true },
  },
  options: {
    server: { value: 'NAMES', many: true, about: 'only these, as the clients name them' },
    scope: {
      value: 'SCOPE',
      choices: scopes,
      about: 'only your own everywhere, or only those of one project',
    },
    folder: { value: 'DIR', about: "the project's folder (the working folder)" },
    grant: {
      value: 'PATHS',
      many: true,
      about: 'folders that the server may read; PATH:rw to write (with one --server)',
    },
    host: {
      value: 'HOSTS',
      many: true,
      about: 'HOST:PORT that the server may connect to (with one --server)',
    },
    secret: {
      value: 'NAMES',
      many: true,
      about: 'more variables to move to the vault, besides those that look like secrets',
    },
    undo: { about: 'put the files of the clients back, and remove what was added' },
    'dry-run': { about: 'list the servers, and start and change nothing' },
  },
  examples: [
    'gatehouse import --dry-run',
    'gatehouse import claude-code cursor',
    'gatehouse import codex --server files --grant /srv/docs:rw',
    'gatehouse import --undo',
  ],
  async look(context, given) {
    const { dir } = await findDataDir(context)
    const interrupted = await readInterrupted(dir)
    if (!given.undo && !interrupted)
      return { kind: 'import' as const, prepared: await prepareImport(context, given) }
    const ids = given.undo ? given.client : null
    return { kind: 'undo' as const, plan: await planUndo(context, ids, interrupted) }
  },
  question(given, found) {
    if (given['dry-run']) return null
    if (found.kind === 'import') return questionText(found.prepared)
    const { plan } = found
    const what = given.undo || plan.interrupted?.kind === 'undo' ? 'the import' : 'what it has done'
    return `${undoneText(undoneOf(plan, true))}\nUndo ${what}?`
  },
  async run(context, given, found) {
    const isDry = given['dry-run']
    if (found.kind === 'import')
      return { kind: found.kind, dry_run: isDry, ...(await runImport(context, found.prepared)) }
    if (!isDry) await undoImports(context, found.plan)
    const undone = undoneOf(found.plan, isDry)
    return { kind: found.kind, ...undone, import_again: !isDry && !given.undo }
  },
  text(result, view) {
    if (result.kind === 'import')
      return result.dry_run ? foundText(result, view) : importedText(result, view)
    const again = result.import_again ? [`Import again: ${view.next('import')}`] : []
    return [undoneText(result), ...again].join('\n')
  },
  exitCode: (result) =>
    (result.kind === 'import' ? result.failed : result.import_again)
      ? exitCodes.failed
      : exitCodes.done,
})
