// SPDX-License-Identifier: Apache-2.0
/** The functions of a manual's page beside the search: copies blocks of code, and shows one tab of several. */
'use strict';

(() => {
  /** Lines to type, without the prompt of a shell and what a program answers. @param {string} code */
  function typed(code) {
    const lines = code.split('\n');
    const isSession = lines.some((line) => /^[$#] /.test(line)) && /^[$#] /.test(lines[0]);
    if (!isSession) return code;
    return lines.filter((line, i) => /^[$#] /.test(line) || (i > 0 && lines[i - 1].endsWith('\\'))).map((line) => `${line.replace(/^[$#] /, '')}\n`).join('');
  }

  /** @param {string} text */
  async function copy(text) {
    if (navigator.clipboard) {
      try {
        await navigator.clipboard.writeText(text);
        return;
      } catch {
        // Not allowed: the old way asks nobody.
      }
    }
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }

  for (const block of document.querySelectorAll('main pre')) {
    const frame = document.createElement('div');
    frame.className = 'code';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await copy(typed(block.querySelector('code')?.textContent ?? ''));
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    block.replaceWith(frame);
    frame.append(block, button);
  }

  // The list of pages is longer than a screen: it begins at the page that is read.
  const list = /** @type {HTMLElement | null} */ (document.querySelector('nav.pages'));
  const current = /** @type {HTMLElement | null} */ (list?.querySelector('[aria-current]'));
  if (list && current) list.scrollTop = Math.max(0, current.offsetTop - list.offsetTop - list.clientHeight / 2);

  const groups = [...document.querySelectorAll('.tabs')].map((group) => {
    const sections = [...group.querySelectorAll(':scope > section')].map((section) => {
      const heading = /** @type {HTMLElement} */ (section.querySelector('h4'));
      return { section: /** @type {HTMLElement} */ (section), heading, name: heading.textContent ?? '' };
    });
    return { group, sections };
  });

  /** Shows a tab, in each group that has it. @param {string} name */
  function show(name) {
    for (const { group, sections } of groups) {
      if (!sections.some((one) => one.name === name)) continue;
      for (const { section, name: own } of sections) section.hidden = own !== name;
      for (const button of group.querySelectorAll('[role=tab]')) {
        const isShown = button.textContent === name;
        button.setAttribute('aria-selected', String(isShown));
        /** @type {HTMLElement} */ (button).tabIndex = isShown ? 0 : -1;
      }
    }
  }

  /** @param {string} name */
  function choose(name) {
    show(name);
    try {
      localStorage.setItem('fleetprof-manual-tab', name);
    } catch {
      // Not allowed: the next page begins with its first tab.
    }
  }

  for (const [i, { group, sections }] of groups.entries()) {
    const buttons = document.createElement('div');
    buttons.setAttribute('role', 'tablist');
    for (const [k, { section, heading, name }] of sections.entries()) {
      const button = document.createElement('button');
      button.type = 'button';
      button.setAttribute('role', 'tab');
      button.id = `tab-${i}-${k}`;
      button.textContent = name;
      button.setAttribute('aria-controls', section.id = `panel-${i}-${k}`);
      section.setAttribute('role', 'tabpanel');
      section.setAttribute('aria-labelledby', button.id);
      heading.hidden = true;
      button.addEventListener('click', () => choose(name));
      button.addEventListener('keydown', (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = sections[(k + step + sections.length) % sections.length];
        choose(next.name);
        document.getElementById(`tab-${i}-${sections.indexOf(next)}`)?.focus();
      });
      buttons.append(button);
    }
    group.prepend(buttons);
    show(sections[0].name);
  }
  try {
    const kept = localStorage.getItem('fleetprof-manual-tab');
    if (kept) show(kept);
  } catch {
    // Not allowed: each group shows its first tab.
  }
})();
