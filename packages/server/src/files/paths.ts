import { GatehouseError } from '@gatehouse/contract'

export const pathBytesMax = 4096
export const nameBytesMax = 255
export const depthMax = 64
export const linkHopsMax = 8

const refuse = (detail: string): GatehouseError => new GatehouseError('InvalidPath', { detail })

// On Windows these would be separators and drive or stream names; elsewhere they are plain characters.
const foreign = process.platform === 'win32' ? /[\\:]/ : null

/** Splits once, on `/` only. `.` and empty components vanish; `..` stays and is walked. */
export const componentsOf = (path: string): readonly string[] => {
  const components: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    // 85 UTF-16 units are at most 255 bytes of UTF-8.
    if (name.length > 85 && Buffer.byteLength(name) > nameBytesMax) {
      throw refuse(`a name in it has more than ${nameBytesMax} bytes`)
    }
    components.push(name)
  }
  if (components.length > depthMax) throw refuse(`it is more than ${depthMax} folders deep`)
  return components
}

/** Whether an absolute path is a folder or lies in it, by text alone. */
export const isUnder = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

/** Refuses what no path can be, before anything is split. */
export const assertPath = (path: string): void => {
  if (path === '') throw refuse('it is empty; "." is your workspace')
  if (path.length > pathBytesMax || Buffer.byteLength(path) > pathBytesMax) {
    throw refuse(`it has more than ${pathBytesMax} bytes`)
  }
  if (path.includes('\0')) throw refuse('it holds a NUL')
  if (!path.isWellFormed()) throw refuse('it is not well-formed Unicode')
  if (foreign?.test(path)) throw refuse('use / between names')
}
