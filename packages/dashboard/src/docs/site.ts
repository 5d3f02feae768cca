import MiniSearch, { type SearchResult } from 'minisearch'
import './site.css'

// Search of the documents: their text is fetched when somebody begins to type.

const base = document.documentElement.dataset['base'] ?? './'
const query = document.querySelector<HTMLInputElement>('#query')
const found = document.querySelector<HTMLElement>('#found')
const resultsMax = 12

const fetchIndex = async (): Promise<MiniSearch> => {
  const response = await fetch(`${base}search.json`)
  const index = new MiniSearch({
    idField: 'url',
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page'],
    searchOptions: { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2 }, combineWith: 'AND' },
  })
  index.addAll((await response.json()) as object[])
  return index
}

let loading: Promise<MiniSearch> | undefined

const resultItem = ({ id, title, page }: SearchResult): HTMLElement => {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `${base}${String(id)}`
  link.textContent = String(title)
  const where = document.createElement('span')
  where.textContent = page === title ? '' : String(page)
  item.append(link, where)
  return item
}

const show = async (): Promise<void> => {
  if (!query || !found) return
  const words = query.value.trim()
  found.hidden = words === ''
  if (words === '') return
  loading ??= fetchIndex()
  const index = await loading
  // Typed on meanwhile: that has its own answer.
  if (query.value.trim() !== words) return
  const results = index.search(words).slice(0, resultsMax)
  const list = document.createElement('ul')
  list.append(...results.map(resultItem))
  found.replaceChildren(results.length > 0 ? list : 'Nothing has these words.')
}

query?.addEventListener('input', () => void show())
found?.addEventListener('click', (event) => {
  if (event.target instanceof HTMLAnchorElement) found.hidden = true
})
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    query?.focus()
  }
  if (event.key === 'Escape' && found) found.hidden = true
})
