import { GatehouseError } from '@gatehouse/contract'
import { assertEnvironment } from '../domain/processes/environment.ts'
import type { ProcessFacts, ProcessRequest, ProcessSite } from '../ports/processes.ts'
import type { SandboxBackend } from '../ports/sandbox.ts'
import { type Content, contentOf } from './content.ts'
import { findProgram } from './programs.ts'

/** A file that is run: the program (-1) or the script among the arguments, with what it held. */
export type Code = Content & {
  readonly argument: number
  /** Where it finds what stands beside it. */
  readonly path: string
}

export type Plan = {
  readonly facts: ProcessFacts
  readonly code: readonly Code[]
}

/** More arguments than this that name files are not looked at one by one. */
const filesMax = 64

const interpreters =
  /^(?:(?:ba|da|z|k|a|mk|fi)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|Rscript|tclsh[\d.]*|expect|guile[\d.]*|julia)$/

/** After one of these the program is told otherwise, and files among the arguments are data. */
const toldOtherwise = /^(?:-[a-zA-Z]*[ceEmpr]|--(?:eval|print|module|command))$/

/** The part of an argument that could name a file: `--config=a.json` and `a.json`. */
const nameIn = (argument: string): string =>
  argument.startsWith('-') && argument.includes('=')
    ? argument.slice(argument.indexOf('=') + 1)
    : argument

const missing: ReadonlySet<string> = new Set([
  'FileNotFound',
  'NotADirectory',
  'PathOutOfScope',
  'InvalidPath',
  'ProtectedPath',
])

/** File that an argument may point to; null where it names no file of the agent. */
const fileAt = async (site: ProcessSite, path: string) => {
  try {
    const print = await site.files.fingerprint(path)
    return print['type'] === 'file' ? print : null
  } catch (error) {
    if (error instanceof GatehouseError && missing.has(error.type)) return null
    throw error
  }
}

const folderOf = async (
  site: ProcessSite,
  path: string,
): Promise<ProcessFacts['working_directory']> => {
  const { type, path: at, dev, ino } = await site.files.fingerprint(path)
  if (type === null || type === undefined) throw new GatehouseError('FileNotFound', { path })
  if (type !== 'directory' || !at || !dev || !ino)
    throw new GatehouseError('NotADirectory', { path })
  // @SECURITY The start opens this very folder, by its inode, or refuses; reached-files.test.ts.
  if (!site.permits(at)) {
    const detail = 'not the place that it leads to'
    throw new GatehouseError('PathNotPermitted', { path, detail })
  }
  return { path: at, dev, ino }
}

/** The path by which its neighbours are found: links on the way followed, the last name as it was written. */
const besideOf = ({ files }: ProcessSite, path: string): string => {
  const plain = files.resolve(path)
  const slash = plain.lastIndexOf('/')
  return files.locate(plain.slice(0, slash)).absolute + plain.slice(slash)
}

const within = (folder: string, name: string): string =>
  name.startsWith('/') ? name : `${folder}/${name}`

/** Looks at everything that a request names. Nothing is started, and nothing is held open. */
export const makePlan = async (
  site: ProcessSite,
  request: ProcessRequest,
  sandbox: SandboxBackend | null,
): Promise<Plan> => {
  assertEnvironment(request.environment)
  const working_directory = await folderOf(site, request.working_directory)
  const program = await findProgram(site, request.command, working_directory.path)
  const code: Code[] = []
  if (program.own !== null) {
    const content = await contentOf(site.files, program.own)
    code.push({ ...content, argument: -1, path: besideOf(site, program.own) })
  }
  const interprets = interpreters.test(request.command.slice(request.command.lastIndexOf('/') + 1))
  const files: { argument: number; path: string; identity: string }[] = []
  for (const [argument, text] of request.args.entries()) {
    const name = nameIn(text)
    if (files.length >= filesMax || name === '' || name.length > 4096) continue
    const path = within(working_directory.path, name)
    const print = await fileAt(site, path)
    if (!print?.['path']) continue
    const isScript =
      interprets &&
      !text.startsWith('-') &&
      code.every((one) => one.argument === -1) &&
      !request.args.slice(0, argument).some((before) => toldOtherwise.test(before))
    if (isScript) {
      const content = await contentOf(site.files, path)
      code.push({ ...content, argument, path: besideOf(site, path) })
      files.push({ argument, path: content.at, identity: `sha256:${content.sha256}` })
    } else {
      const { sha256, version, ino } = print
      const identity = sha256 ? `sha256:${sha256}` : `${ino}:${version}`
      files.push({ argument, path: print['path'], identity })
    }
  }
  const [first] = code
  const facts: ProcessFacts = {
    program: {
      path: program.path,
      identity: first && first.argument === -1 ? `sha256:${first.sha256}` : program.identity,
    },
    working_directory,
    files,
    network: request.network,
    sandbox,
  }
  return { facts, code }
}
