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

// Page faults on newly allocated memory can take longer than the computation itself. Arrays of some megabytes therefore
// request huge pages; larger ones do not, as the system might have to compact memory for them.
template <class T>
class UninitializedArray {
public:
    UninitializedArray() = default;
    explicit UninitializedArray(std::size_t count) { resize(count); }
    ~UninitializedArray() { std::free(values_); }
    UninitializedArray(const UninitializedArray&) = delete;
    UninitializedArray& operator=(const UninitializedArray&) = delete;

    void resize(std::size_t count) {  // discards the contents
        constexpr std::size_t large = std::size_t{1} << 21, small = 64, max_large = std::size_t{1} << 26;
        if (count > PTRDIFF_MAX / sizeof(T) - large) throw std::bad_alloc();
        const std::size_t align = count * sizeof(T) >= large && count * sizeof(T) <= max_large ? large : small;
        const std::size_t bytes = (count * sizeof(T) / align + 1) * align;
        std::free(values_);
        values_ = static_cast<T*>(std::aligned_alloc(align, bytes));
        if (!values_) throw std::bad_alloc();
#if defined(__linux__)
        if (align == large) madvise(values_, bytes, MADV_HUGEPAGE);  // a failure only costs time
#endif
    }
    T* get() { return values_; }
    const T* get() const { return values_; }
    T& operator[](std::size_t i) { return values_[i]; }

private:
    T* values_ = nullptr;
};

}  // namespace keypose
