import { createApp } from 'vue';

import Cart from './Cart.vue';

createApp(Cart).mount(document.body.appendChild(document.createElement('div')));
