import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../lib/run.mjs'
import { code, generatedNote, table } from './markdown.mjs'

const id = (name) => name.replaceAll(' ', '_')
const isOurs = (name) => !/[:/*]/.test(name)

const shown = (name) => {
  if (name === 'npm:') return 'its own libraries'
  return name.endsWith('.ts') ? code(name) : name
}

/** Leaves out what is reached by way of another, for the picture's sake. */
const direct = (targets, all) => {
  const mayOf = (name) => all.find((layer) => layer.name === name)?.may ?? []
  return targets.filter((t) => !targets.some((other) => other !== t && mayOf(other).includes(t)))
}

/** The folders of a layer, which name each other as layers do. */
const roomsText = ({ name, path: where, rooms }) => {
  const all = Object.entries(rooms).map(([room, may]) => ({ name: room, may }))
  const arrows = all.flatMap((room) =>
    direct(room.may, all).map((target) => `  ${room.name} --> ${target}`),
  )
  return `
## Rooms of ${name}

Each folder of ${code(where)} is a room; the files beside them bind the rooms to each other.

\`\`\`mermaid
flowchart TD
${arrows.join('\n')}
\`\`\`

${table(
  ['Room', 'May import'],
  all.map((room) => [room.name, room.may.join(', ')]),
)}
`
}

export const layers = {
  file: 'docs/reference/layers.md',
  async render() {
    const file = path.join(root, 'docs/architecture/layers.json')
    const { layers: all, gate } = JSON.parse(await readFile(file, 'utf8'))
    const arrows = all.flatMap(({ name, may }) =>
      direct(may.filter(isOurs), all).map((target) => `  ${id(name)} --> ${id(target)}`),
    )
    const boxes = all.map(({ name }) => `  ${id(name)}["${name}"]`)
    const rows = all.map(({ name, path: where, may }) => [
      name,
      code(where),
      may.includes('*') ? 'everything' : may.map(shown).join(', '),
    ])
    const rooms = all.filter((layer) => layer.rooms).map(roomsText)
    return `${generatedNote('docs/architecture/layers.json')}
# Layers

An arrow means "may import"; one that others already imply is not drawn. A path that ends in
a slash makes each folder a part of its own, and parts of one layer do not import each other. Only ${code(gate.only)} may run a capability.
\`npm run check -- layers\` holds the code to this table.

\`\`\`mermaid
flowchart TD
${[...boxes, ...arrows].join('\n')}
\`\`\`

${table(['Layer', 'Path', 'May import'], rows)}
${rooms.join('')}`
  },
}
