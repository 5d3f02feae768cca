import type { ToolMark } from '@gatehouse/contract'
import { controlCharacters, hiddenCharacters } from './visible-text.ts'

/** Turns of phrase that speak to a model about more than the tool they stand in. */
const instructions: readonly RegExp[] = [
  /<\s*(?:important|system|instructions?|secret|hidden)\b[^>]{0,40}>/i,
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|other|all)\b.{0,40}\b(?:instructions?|rules?|prompts?|tools?)\b/i,
  /\b(?:do not|don't|never)\b.{0,30}\b(?:tell|mention|inform|show|reveal|notify)\b.{0,30}\b(?:the )?(?:user|human|person|anyone)\b/i,
  /\b(?:before|after|instead of|whenever)\b.{0,30}\b(?:using|calling|you use|you call)\b.{0,20}\b(?:any|another|other|every|this)\b.{0,20}\b(?:tools?)\b/i,
  /\byou (?:must|should) (?:always|first)\b.{0,60}\b(?:read|send|include|pass|call|append)\b/i,
  /(?:~\/\.(?:ssh|aws|config|cursor|claude)|\bid_rsa\b|\.env\b)/i,
]

const excerpt = (text: string, at: number): string =>
  text
    .slice(Math.max(0, at - 20), at + 100)
    .replace(/\s+/g, ' ')
    .trim()

/** Every text in a JSON value, keys too: a model reads all of them. */
const textsIn = (value: unknown, found: string[] = []): readonly string[] => {
  if (typeof value === 'string') found.push(value)
  else if (Array.isArray(value)) for (const item of value) textsIn(item, found)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      found.push(key)
      textsIn(inner, found)
    }
  return found
}

/** Marks in a definition that a person should look at, before a model reads it. */
export const markTool = (
  definition: { readonly name: string; readonly [key: string]: unknown },
  otherTools: readonly string[],
): readonly ToolMark[] => {
  const texts = textsIn(definition)
  const all = texts.join('\n')
  const marks: ToolMark[] = []
  const control = texts.flatMap(controlCharacters)
  if (control.length > 0)
    marks.push({ kind: 'control_characters', detail: [...new Set(control)].join(', ') })
  const hidden = texts.flatMap(hiddenCharacters)
  if (hidden.length > 0)
    marks.push({ kind: 'hidden_characters', detail: [...new Set(hidden)].join(', ') })
  for (const pattern of instructions) {
    const found = pattern.exec(all)
    if (found) {
      marks.push({ kind: 'instructions', detail: excerpt(all, found.index) })
      break
    }
  }
  const { description } = definition
  const named =
    typeof description === 'string' ? otherTools.filter((name) => namesTool(description, name)) : []
  if (named.length > 0)
    marks.push({ kind: 'names_other_tool', detail: named.slice(0, 5).join(', ') })
  return marks
}

/** Only names that are no ordinary words: `create_issue`, not `search`. */
const namesTool = (text: string, name: string): boolean =>
  /[_.-]|[a-z][A-Z]/.test(name) && text.includes(name)
