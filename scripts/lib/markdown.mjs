import GithubSlugger from 'github-slugger'
import MarkdownIt from 'markdown-it'

export const markdown = new MarkdownIt({ html: true })

/** Text of a heading as it is read, without its marks. */
export const plainText = (inline) =>
  (inline.children ?? [])
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')

/** Headings of a page, with the anchors that GitHub gives them. */
export const headingsOf = (tokens) => {
  const slugger = new GithubSlugger()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = plainText(tokens[at + 1])
    return [{ level: Number(token.tag.slice(1)), text, anchor: slugger.slug(text), token }]
  })
}

/** Anchors that a page sets by itself: `<a id="…">`. */
const ownAnchors = (tokens) =>
  tokens.flatMap(({ type, content, children }) =>
    [...(type.startsWith('html') ? [content] : []), ...(children ?? []).map((one) => one.content)]
      .flatMap((text) => [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)])
      .map((match) => match[1]),
  )

/** Addresses of links and pictures, each with the line of its paragraph. */
export const linksOf = (tokens) =>
  tokens.flatMap(({ children, map }) =>
    (children ?? [])
      .map((child) => child.attrGet('href') ?? child.attrGet('src'))
      .filter((href) => href !== null)
      .map((href) => ({ href, line: (map?.[0] ?? 0) + 1 })),
  )

/** A page: its headings, the anchors that a link may name, its links. */
export const readPage = (text) => {
  const tokens = markdown.parse(text, {})
  const headings = headingsOf(tokens)
  const anchors = new Set([...headings.map(({ anchor }) => anchor), ...ownAnchors(tokens)])
  return { tokens, headings, anchors, links: linksOf(tokens) }
}
