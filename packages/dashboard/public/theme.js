// The chosen theme, before anything is painted: a page that changes its colours after a moment flashes.
{
  const theme = localStorage.getItem('gatehouse.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
}
