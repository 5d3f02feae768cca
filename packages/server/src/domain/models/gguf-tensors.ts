import { type GgufCursor, quoted, refuse } from './gguf-cursor.ts'

export type GgufTensors = { readonly parameters: number; readonly weights_bytes: number }

/** Elements and bytes of a block, by the number of the type. This table ages: what is not in it is refused. */
const blocks: Readonly<Record<number, readonly [elements: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
}
const elementsMax = 2 ** 45

type Tensor = {
  readonly name: string
  readonly elements: number
  readonly offset: number
  readonly bytes: number
}

function readTensor(cursor: GgufCursor): Tensor {
  const name = cursor.raw('the name of a tensor')
  const what = `tensor ${quoted(name)}`
  const count = cursor.u32()
  if (count < 1 || count > 4) refuse(`${what} has ${count} dimensions; 1 to 4 are allowed`)
  let [elements, row] = [1, 0]
  for (let i = 0; i < count; i += 1) {
    const dimension = cursor.u64(`a dimension of ${what}`)
    if (dimension < 1) refuse(`${what} has an empty dimension`)
    if (i === 0) row = dimension
    elements *= dimension
    if (elements >= elementsMax) refuse(`${what} has too many elements`)
  }
  const type = cursor.u32()
  const [perBlock, blockBytes] = blocks[type] ?? refuse(`${what} has the unknown type ${type}`)
  if (row % perBlock !== 0)
    refuse(`${what} has rows of ${row}, which is no multiple of its blocks of ${perBlock}`)
  const offset = cursor.u64(`the offset of ${what}`)
  return { name, elements, offset, bytes: (elements / perBlock) * blockBytes }
}

/** Where each tensor lies: aligned, inside the file, none over another. */
export function readTensors(
  cursor: GgufCursor,
  count: number,
  { alignment, fileBytes }: { readonly alignment: number; readonly fileBytes: number },
): GgufTensors {
  const names = new Set<string>()
  const tensors: Tensor[] = []
  for (let i = 0; i < count; i += 1) {
    const tensor = readTensor(cursor)
    if (names.has(tensor.name)) refuse(`there are two tensors ${quoted(tensor.name)}`)
    names.add(tensor.name)
    tensors.push(tensor)
  }
  const start = Math.ceil(cursor.at / alignment) * alignment
  let [end, parameters, weights_bytes] = [0, 0, 0]
  for (const { name, elements, offset, bytes } of tensors.toSorted((a, b) => a.offset - b.offset)) {
    const what = `tensor ${quoted(name)}`
    if (offset % alignment !== 0) refuse(`${what} is not aligned to ${alignment} bytes`)
    if (offset < end) refuse(`${what} overlaps another`)
    end = offset + bytes
    if (start + end > fileBytes)
      refuse(`${what} ends at byte ${start + end}, beyond the file of ${fileBytes}`)
    parameters += elements
    weights_bytes += bytes
  }
  return { parameters, weights_bytes }
}
