// Links between the Markdown files of the repository lead somewhere, and every document can be reached from the README.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { brokenLinks } from './lib/broken-links.mjs'
import { markdownFiles } from './lib/files.mjs'
import { root } from './lib/run.mjs'

const pages = new Map(markdownFiles().map(({ file, text }) => [file, text]))
const exists = (file) => existsSync(path.join(root, file))

const problems = brokenLinks(pages, exists, 'README.md')
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
