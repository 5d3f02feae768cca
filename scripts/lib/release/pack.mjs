import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { npm, root, run } from '../run.mjs'
import { addBundled } from './bill-of-materials.mjs'
import { readChangelog, sectionOf } from './changelog.mjs'
import { readManifest } from './published.mjs'
import { bundledLibraries, stageClient, stageCommand } from './stage.mjs'

const releaseFolder = path.join(root, '.cache/release')

const runNpm = async (args, cwd) => {
  const { code, output } = await run([...npm, ...args], { cwd, capture: true })
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${output}`)
  return output
}

const packFolder = async (folder, into) => {
  const output = await runNpm(
    ['pack', '--json', '--ignore-scripts', `--pack-destination=${into}`],
    folder,
  )
  const [packed] = JSON.parse(output.slice(output.indexOf('[')))
  return {
    name: packed.name,
    version: packed.version,
    file: path.join(into, packed.filename),
    folder,
    packedBytes: packed.size,
    unpackedBytes: packed.unpackedSize,
    files: packed.files.map((file) => file.path),
  }
}

/** The day of the release by the changelog; before it, today. */
const releaseDate = (version) => {
  const sections = readChangelog(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'))
  return sectionOf(sections, version)?.date ?? new Date().toISOString().slice(0, 10)
}

/**
 * Packs every public package from what is built, in the order in which they are published. The folder holds the
 * tarballs and, in `staged`, what is in them. `repository` is the one of package.json, unless another is given.
 *
 * @param {{ into?: string, repository?: object | null }} [options]
 */
export const packAll = async ({ into = releaseFolder, repository } = {}) => {
  rmSync(into, { recursive: true, force: true })
  const staged = (name) => path.join(into, 'staged', name)
  const [client, command] = ['client', 'cli'].map((name) => readManifest(`packages/${name}`))
  const source = repository ?? readManifest('.').repository
  stageClient(staged(client.name), source)
  await stageCommand(staged(command.name), {
    date: releaseDate(command.version),
    repository: source,
  })
  return [
    { ...(await packFolder(staged(client.name), into)), bundled: [] },
    { ...(await packFolder(staged(command.name), into)), bundled: bundledLibraries() },
  ]
}

/** Writes the bill of materials of a package, in CycloneDX, beside its tarball. */
export const writeBill = async ({ folder, file, bundled }) => {
  const text = await runNpm(
    ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
    folder,
  )
  const bill = file.replace(/\.tgz$/, '.cdx.json')
  writeFileSync(bill, `${JSON.stringify(addBundled(JSON.parse(text), bundled), null, 2)}\n`)
  return bill
}
