import { readFileSync } from 'node:fs'
import { Document, isMap, parseDocument } from 'yaml'
import { refuse } from './refuse.ts'

/** Text of `gatehouse.yaml` with this value in the place of the present one, and without the setting for null. */
export const withSetting = (file: string, key: string, value: string | null): string => {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') refuse(file, 'cannot be read')
  }
  const parsed = parseDocument(text)
  if (parsed.errors.length > 0) refuse(file, 'is not valid YAML')
  if (parsed.contents !== null && !isMap(parsed.contents)) refuse(file, 'must be a map of settings')
  if (value === null && !parsed.has(key)) return text
  const document: Document = parsed.contents === null ? new Document({}) : parsed
  if (parsed.contents === null) document.commentBefore = parsed.comment ?? parsed.commentBefore
  if (value === null) document.delete(key)
  else document.set(key, value)
  if (isMap(document.contents) && document.contents.items.length === 0) {
    const comment = document.commentBefore
    return comment ? comment.replace(/^/gm, '#').concat('\n') : ''
  }
  return document.toString({ lineWidth: 0 })
}
