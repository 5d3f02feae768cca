// The documents as plain pages of HTML: the dashboard serves them at /docs/, and `npm run docs` makes a site of its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { targetOf } from './broken-links.mjs'
import { markdownFiles } from './files.mjs'
import { headingsOf, markdown, plainText } from './markdown.mjs'

const start = 'docs/README.md'
const { escapeHtml } = markdown.utils

/** Where a document stands on the site: `guide/policy.html`. Those outside of `docs` are below `project`. */
export const addressOf = (file) => {
  const place = file.startsWith('docs/') ? file.slice('docs/'.length) : `project/${file}`
  return place.replace(/(?:^|(?<=\/))README\.md$/, 'index.md').replace(/\.md$/, '.html')
}

const relative = (from, to) => {
  const address = path.posix.relative(path.posix.dirname(from), to)
  return address === '' ? path.posix.basename(to) : address
}

const isOutside = (href) => /^[a-z][a-z+.-]*:/i.test(href)

/** The address on the site that a link means; null for a file that is no document. */
const resolve = (site, page, href) => {
  if (isOutside(href)) return href
  const { file, anchor } = targetOf(page.file, href)
  const target = [file, `${file}/README.md`].find((one) => site.pages.has(one))
  if (target === undefined) return null
  const hash = anchor === null ? '' : `#${anchor}`
  return target === page.file ? hash || '#' : `${relative(page.address, addressOf(target))}${hash}`
}

/** Links lead to pages of the site; what is no document there is a name of a file. */
const resolveLinks = (site, page, tokens) => {
  const open = []
  for (const token of tokens) {
    if (token.children) resolveLinks(site, page, token.children)
    if (token.type === 'link_open') {
      const address = resolve(site, page, token.attrGet('href'))
      open.push(token)
      if (address !== null) token.attrSet('href', address)
      else token.attrs = [['class', 'file']]
      if (address === null) token.tag = 'span'
    }
    if (token.type === 'link_close') token.tag = open.pop().tag
    // The content security policy of the dashboard takes no style of a single element.
    if (token.attrGet('style') !== null) token.attrs = [['class', 'right']]
    // Steps that only the tests see.
    if (token.type.startsWith('html'))
      token.content = token.content.replace(/<!--[\s\S]*?-->|<img [^>]*>/g, '')
  }
}

markdown.renderer.rules.table_open = () =>
  '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n'
markdown.renderer.rules.table_close = () => '</table></div>\n'
/** Pictures show the dashboard: where that serves the pages it is at hand, and they are heavier than all texts together. */
markdown.renderer.rules.image = (tokens, at, _options, /** @type {any} */ { site, page }) => {
  if (!site.isAlone) return ''
  const { file } = targetOf(page.file, tokens[at].attrGet('src'))
  const address = relative(page.address, file.replace(/^docs\//, ''))
  return `<img src="${address}" alt="${escapeHtml(tokens[at].content)}">`
}
markdown.renderer.rules.fence = (tokens, at) =>
  `<pre tabindex="0"><code>${escapeHtml(tokens[at].content)}</code></pre>\n`

const read = ({ file, text }) => {
  const tokens = markdown.parse(text, {})
  const headings = headingsOf(tokens)
  return { file, address: addressOf(file), tokens, headings, title: headings[0]?.text ?? file }
}

/** Documents that a page links to, each once, in its order. */
const linksOf = (site, { file, tokens }) => {
  const files = new Set()
  for (const token of tokens)
    for (const child of token.children ?? []) {
      const href = child.type === 'link_open' ? child.attrGet('href') : null
      const target = href === null || isOutside(href) ? null : targetOf(file, href).file
      if (target !== null && site.pages.has(target)) files.add(target)
    }
  return files
}

/** A section for each start page, which the first page names: the page itself, and what it leads to. */
const navigationOf = (site) => ({
  sections: [...linksOf(site, site.pages.get(start))].map((file) => {
    const page = site.pages.get(file)
    return { title: page.title, files: new Set([file, ...linksOf(site, page)]) }
  }),
})

const navigationHtml = (site, page) =>
  site.navigation.sections
    .map(({ title, files }) => {
      const items = [...files].map((file) => {
        const here = file === page.file ? ' aria-current="page"' : ''
        const href = relative(page.address, addressOf(file))
        return `<li><a href="${href}"${here}>${escapeHtml(site.pages.get(file).title)}</a></li>`
      })
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
    })
    .join('\n')

const contentsHtml = ({ headings }) => {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 3) return ''
  const items = shown.map(
    ({ level, text, anchor }) =>
      `<li class="h${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  )
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}

const pageHtml = (site, page) => {
  for (const { anchor, token } of page.headings) token.attrSet('id', anchor)
  const navigation = navigationHtml(site, page)
  resolveLinks(site, page, page.tokens)
  const base = relative(page.address, 'index.html').replace(/index\.html$/, '')
  // What the dashboard has in the folder above; a site of its own has it beside its pages.
  const shared = site.isAlone ? base : `${base}../`
  return `<!doctype html>
<html lang="en" data-base="${base || './'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Gatehouse</title>
<link rel="icon" href="${shared}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}site.css">
<script src="${shared}theme.js"></script>
<script type="module" src="${base}site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="${base || './'}"><img src="${shared}icon.svg" alt="" width="26" height="26">Gatehouse documents</a>
<search><label for="query">Search the documents</label><input id="query" type="search" autocomplete="off" placeholder="Search"></search>
${site.isAlone ? '' : `<a href="${shared}">Dashboard</a>\n`}</header>
<div id="found" role="region" aria-label="Search results" aria-live="polite" hidden></div>
<div class="frame">
<main id="content" tabindex="-1">
${markdown.renderer.render(page.tokens, markdown.options, { site, page })}
</main>
<nav class="pages" aria-label="Documents">
${navigation}
</nav>
${contentsHtml(page)}
</div>
</body>
</html>
`
}

/** What search looks through: each section with its text. Of the long reference pages, the headings. */
const searchEntries = ({ file, address, title, headings, tokens }) => {
  const isReference = file.startsWith('docs/reference/') || file === 'CHANGELOG.md'
  const anchors = new Map(headings.map((heading) => [heading.token, heading]))
  const entries = []
  for (const token of tokens) {
    const heading = anchors.get(token)
    if (heading)
      entries.push({
        url: `${address}#${heading.anchor}`,
        page: title,
        title: heading.text,
        text: '',
      })
    else if (token.type === 'inline' && !isReference && entries.length > 0)
      entries.at(-1).text += `${plainText(token)} `
  }
  return entries
}

/**
 * Writes the pages into a folder. `isAlone`: for a site without a dashboard, whose pictures, icon and scripts are in
 * the same folder. Returns the addresses of the pages.
 */
export const buildDocsSite = (folder, { isAlone = false } = {}) => {
  const pages = new Map(markdownFiles().map((file) => [file.file, read(file)]))
  const site = { pages, isAlone }
  site.navigation = navigationOf(site)
  const entries = [...pages.values()].flatMap(searchEntries)
  for (const page of pages.values()) {
    const file = path.join(folder, page.address)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, pageHtml(site, page))
  }
  writeFileSync(path.join(folder, 'search.json'), JSON.stringify(entries))
  return [...pages.values()].map(({ address }) => address)
}
