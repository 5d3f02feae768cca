import MarkdownIt from 'markdown-it'

/** A fenced block, or a hidden step in a comment. */
export type Block = {
  readonly line: number
  readonly language: string
  /** The word after the language: what is done with the block. */
  readonly mode: string
  readonly options: Readonly<Record<string, string>>
  readonly text: string
}

const markdown = new MarkdownIt({ html: true })

const hidden = /^<!-- (?<mode>run|with)\n(?<text>[\s\S]*?)-->/

/** `sh run` and `yaml policy agent=coder`, `sh skip="needs a mailbox"`. */
const readInfo = (info: string): Pick<Block, 'language' | 'mode' | 'options'> => {
  const [, language = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(info) ?? []
  const options: Record<string, string> = {}
  const words = rest.replace(/(\w+)=(?:"([^"]*)"|(\S+))/g, (_, key, quoted, plain) => {
    options[key] = quoted ?? plain
    return ''
  })
  const named = ['skip', 'file'].find((key) => key in options)
  return { language, mode: named ?? words.trim(), options }
}

/** Blocks of a page in their order. The text of a `with` comment goes before that of the next block. */
export const readBlocks = (page: string): Block[] => {
  const blocks: Block[] = []
  let before = ''
  for (const { type, info, content, map } of markdown.parse(page, {})) {
    const line = (map?.[0] ?? 0) + 1
    if (type === 'fence' || type === 'code_block') {
      blocks.push({ line, ...readInfo(info), text: before + content })
      before = ''
    } else if (type === 'html_block') {
      const { mode, text = '' } = hidden.exec(content)?.groups ?? {}
      if (mode === 'with') before = text
      if (mode === 'run') blocks.push({ line, language: 'sh', mode, options: {}, text })
    }
  }
  return blocks
}
