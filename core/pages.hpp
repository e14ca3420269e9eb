// Large arrays without initial values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace keypose {

// Pages of memory that were never used cost more to meet, one by one, than all that is reckoned with what is in them.
// Arrays of some megabytes ask for large pages; larger ones do not, for the system may have to make room for these.
template <class T>
class Pages {
public:
    Pages() = default;
    explicit Pages(std::size_t count) { resize(count); }
    ~Pages() { std::free(values_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void resize(std::size_t count) {  // what was there is gone
        constexpr std::size_t large = std::size_t{1} << 21, small = 64, most = std::size_t{1} << 26;
        if (count > PTRDIFF_MAX / sizeof(T) - large) throw std::bad_alloc();
        const std::size_t align = count * sizeof(T) >= large && count * sizeof(T) <= most ? large : small;
        const std::size_t bytes = (count * sizeof(T) / align + 1) * align;
        std::free(values_);
        values_ = static_cast<T*>(std::aligned_alloc(align, bytes));
        if (!values_) throw std::bad_alloc();
#if defined(__linux__)
        if (align == large) madvise(values_, bytes, MADV_HUGEPAGE);  // if it cannot, nothing is lost but time
#endif
    }
    T* get() { return values_; }
    const T* get() const { return values_; }
    T& operator[](std::size_t i) { return values_[i]; }

private:
    T* values_ = nullptr;
};

}  // namespace keypose
